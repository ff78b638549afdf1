/*
 * SWEEPS Jacobi sweeps of the 7-point heat equation on an NX x NY x NZ grid in single
 * precision: every cell becomes centre * itself + side * the sum of its six neighbours.
 *
 * Grids are row-major, x fastest, with a halo of one cell on each side (cells 0 and N + 1)
 * whose values never change. Sizes and tuning parameters (see stencil.toml) are macros.
 *
 * The grid is cut into blocks of BX x BY x BZ cells, shared among THREADS threads. DEPTH
 * sweeps are made on a block before the next one is begun: the block is enlarged by one
 * cell in each direction per sweep still to come, and the sweeps in between live in two
 * tiles in the cache. Blocks thus compute some cells twice, and the grid crosses the
 * memory bus only once per DEPTH sweeps.
 *
 *     for each pass of DEPTH sweeps over the grid                  stencil
 *         for each block, in parallel, ordered as ORDER says       advance_block
 *             for each sweep, on fewer and fewer cells             relax
 *                 for each ROWS rows along y                       relax_rows
 */
#include <stddef.h>
#include <string.h>
#include <omp.h>

/*
 * Floats in a vector. What is wider than the CPU's registers becomes several vectors here,
 * because gcc would take it apart into single floats.
 */
#if defined(__AVX512F__)
#define WIDEST 16
#elif defined(__AVX__)
#define WIDEST 8
#else
#define WIDEST 4
#endif
#define LANES (VW < WIDEST ? VW : WIDEST)

/* A vector where it lies in memory: neighbours along x are never aligned to more than a float. */
typedef float vec_in_memory
    __attribute__((vector_size(LANES * sizeof(float)), aligned(sizeof(float)), may_alias));

/* Both compilers unroll the loop that follows by n, or completely if it has no more than n steps. */
#define PRAGMA(text) _Pragma(#text)
#ifdef __clang__
#define UNROLLED(n) PRAGMA(clang loop unroll_count(n))
#else
#define UNROLLED(n) PRAGMA(GCC unroll n)
#endif

/* The text of a string parameter: -DORDER=zyx makes TEXT(ORDER) "zyx". */
#define TEXT_OF(word) #word
#define TEXT(word) TEXT_OF(word)

enum { X, Y, Z, DIMENSIONS };

static const ptrdiff_t cells[DIMENSIONS] = {NX, NY, NZ};
static const ptrdiff_t block[DIMENSIONS] = {BX, BY, BZ};

/* The cells lo <= cell < hi in each dimension, in grid coordinates. */
struct box {
    ptrdiff_t lo[DIMENSIONS], hi[DIMENSIONS];
};

/*
 * Where a grid or a tile keeps its cells: the coordinates of the first one, and the distances
 * to the next row and to the next plane.
 */
struct layout {
    ptrdiff_t first[DIMENSIONS], next_y, next_z;
};

enum {
    GRID_CELLS = (NX + 2) * (NY + 2) * (NZ + 2),

    /* A tile holds a block enlarged for all sweeps but the first, and the halo around that. */
    TILE_X = BX + 2 * DEPTH,
    TILE_Y = BY + 2 * DEPTH,
    TILE_Z = BZ + 2 * DEPTH,
    TILE_CELLS = DEPTH > 1 ? TILE_X * TILE_Y * TILE_Z : 1,
};

static const struct layout grid = {{0, 0, 0}, NX + 2, (NX + 2) * (NY + 2)};

static inline ptrdiff_t offset(const struct layout *in, ptrdiff_t x, ptrdiff_t y, ptrdiff_t z)
{
    return (z - in->first[Z]) * in->next_z + (y - in->first[Y]) * in->next_y + (x - in->first[X]);
}

static inline ptrdiff_t smaller(ptrdiff_t a, ptrdiff_t b)
{
    return a < b ? a : b;
}

static inline ptrdiff_t larger(ptrdiff_t a, ptrdiff_t b)
{
    return a > b ? a : b;
}

/* The box with n more cells on every side, but none outside the grid and `halo` cells around it. */
static struct box enlarged(struct box box, ptrdiff_t n, ptrdiff_t halo)
{
    for (int d = 0; d < DIMENSIONS; d++) {
        box.lo[d] = larger(box.lo[d] - n, 1 - halo);
        box.hi[d] = smaller(box.hi[d] + n, 1 + cells[d] + halo);
    }
    return box;
}

/* One vector of cells in each of ROWS rows: rows share the loads of their common neighbours. */
static inline void relax_vectors(const float *restrict from, ptrdiff_t y, ptrdiff_t z,
                                 float *restrict to, ptrdiff_t to_y, float centre, float side)
{
#define AT(distance) (*(const vec_in_memory *)(row + (distance)))
    UNROLLED(ROWS)
    for (ptrdiff_t r = 0; r < ROWS; r++) {
        const float *row = from + r * y;
        *(vec_in_memory *)(to + r * to_y) =
            centre * AT(0) + side * (AT(-1) + AT(1) + AT(-y) + AT(y) + AT(-z) + AT(z));
    }
#undef AT
}

/*
 * ROWS rows of `count` cells. A last vector that would overrun the row is moved back to end
 * with it: the cells computed twice come out the same, as `from` is not written.
 */
static inline void relax_rows(const float *restrict from, ptrdiff_t y, ptrdiff_t z,
                              float *restrict to, ptrdiff_t to_y, ptrdiff_t count,
                              float centre, float side)
{
    UNROLLED(UNROLL)
    for (ptrdiff_t x = 0; x < count - LANES; x += LANES)
        relax_vectors(from + x, y, z, to + x, to_y, centre, side);
    ptrdiff_t last = count - LANES;
    relax_vectors(from + last, y, z, to + last, to_y, centre, side);
}

/* One sweep over a box of at least LANES x ROWS x 1 cells. The last rows may be done twice, too. */
static void relax(const float *from, const struct layout *in, float *to, const struct layout *out,
                  const struct box *box, float centre, float side)
{
    const ptrdiff_t x = box->lo[X], count = box->hi[X] - x;

    for (ptrdiff_t z = box->lo[Z]; z < box->hi[Z]; z++)
        for (ptrdiff_t next = box->lo[Y]; next < box->hi[Y]; next += ROWS) {
            ptrdiff_t y = smaller(next, box->hi[Y] - ROWS);
            relax_rows(from + offset(in, x, y, z), in->next_y, in->next_z,
                       to + offset(out, x, y, z), out->next_y, count, centre, side);
        }
}

/* Copies those cells of the box that belong to the halo of the grid. */
static void copy_halo(const float *from, const struct layout *in, float *to,
                      const struct layout *out, const struct box *box)
{
    const ptrdiff_t x = box->lo[X], last = box->hi[X] - 1;

    for (ptrdiff_t z = box->lo[Z]; z < box->hi[Z]; z++)
        for (ptrdiff_t y = box->lo[Y]; y < box->hi[Y]; y++) {
            const float *row = from + offset(in, x, y, z);
            float *copy = to + offset(out, x, y, z);
            if (z == 0 || z == NZ + 1 || y == 0 || y == NY + 1) {
                memcpy(copy, row, (size_t)(last - x + 1) * sizeof(float));
            } else {
                if (x == 0)
                    copy[0] = row[0];
                if (last == NX + 1)
                    copy[last - x] = row[last - x];
            }
        }
}

/* DEPTH sweeps on one block: from one grid to the other through the tiles of this thread. */
static void advance_block(const float *from, float *to, float (*tiles)[TILE_CELLS],
                          struct box box, float centre, float side)
{
    const struct layout tile = {
        {box.lo[X] - DEPTH, box.lo[Y] - DEPTH, box.lo[Z] - DEPTH}, TILE_X, TILE_X * TILE_Y};
    const struct layout *in = &grid;
    const float *current = from;

    for (int to_come = DEPTH - 1; to_come > 0; to_come--) {
        struct box inner = enlarged(box, to_come, 0);
        struct box with_halo = enlarged(inner, 1, 1);
        float *next = tiles[to_come % 2];

        relax(current, in, next, &tile, &inner, centre, side);
        copy_halo(from, &grid, next, &tile, &with_halo);
        current = next;
        in = &tile;
    }
    relax(current, in, to, &grid, &box, centre, side);
}

/* Block number `index`, counted in the order that the letters of ORDER name, outermost first. */
static struct box nth_block(int index)
{
    struct box box;

    for (int level = DIMENSIONS - 1; level >= 0; level--) {
        int d = TEXT(ORDER)[level] - 'x';
        int blocks = (int)(cells[d] / block[d]);
        box.lo[d] = 1 + index % blocks * block[d];
        box.hi[d] = box.lo[d] + block[d];
        index /= blocks;
    }
    return box;
}

void stencil(const float *u, float *v, float centre, float side)
{
    /* Every call writes them before it reads them; pages that a configuration never touches cost nothing. */
    static float spare[GRID_CELLS];
    static float tiles[THREADS][2][TILE_CELLS];

    const struct box everything = {{0, 0, 0}, {NX + 2, NY + 2, NZ + 2}};
    const int passes = SWEEPS / DEPTH;
    const float *from = u;

    copy_halo(u, &grid, v, &grid, &everything);
    if (passes > 1)
        copy_halo(u, &grid, spare, &grid, &everything);

    for (int pass = 1; pass <= passes; pass++) {
        /* The passes alternate between two grids such that the last one ends in v. */
        float *to = (passes - pass) % 2 ? spare : v;

#pragma omp parallel for num_threads(THREADS) schedule(static)
        for (int index = 0; index < (NX / BX) * (NY / BY) * (NZ / BZ); index++)
            advance_block(from, to, tiles[omp_get_thread_num()], nth_block(index), centre, side);
        from = to;
    }
}

# Reads what nbody prints. Ends with status 1, saying why, unless the body is where it should be.

function apart(a, b) { return a > b ? a - b : b - a }

/^drift/ { drift = $2 }
/^position/ { found = 1; x = $2; y = $3; z = $4 }

END {
    if (!found) { print "no position was printed"; exit 1 }
    # Energy is conserved but for the error of the method, whatever the sizes are.
    if (drift + 0 > 1e-3) { print "the energy drifts by " drift; exit 1 }
    # Where it is known, computed without optimisation, the position has to agree to nine digits.
    if (ENVIRON["BODIES"] == 1000 && ENVIRON["STEPS"] == 5)
        if (apart(x, -0.141164292513) > 1e-9 || apart(y, 0.247742353776) > 1e-9 || apart(z, -0.386191065884) > 1e-9) {
            print "the body is at " x " " y " " z ", more than 1e-9 from where it should be"
            exit 1
        }
}

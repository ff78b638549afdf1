#include "modes.c"

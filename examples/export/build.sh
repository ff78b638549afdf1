#!/bin/sh
# Builds the application with the settings of scale.env.
set -eu
. ./scale.env
${CC:-cc} -O2 -DTILE="$TILE" -DUNROLL="$UNROLL" scale.c app.c -o app-env

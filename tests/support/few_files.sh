#!/bin/bash
# Runs $DRAGOMAN_PROGRAM with room for 40 open files.
ulimit -Sn 40
ulimit -Hn 40
exec "$DRAGOMAN_PROGRAM" "$@"

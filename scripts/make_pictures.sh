#!/bin/bash
# Makes the moving pictures of README.md from the real page: a server with a model, a headless Chromium, frames of the story
# in "Look inside" at equal distances, joined to one WebP of at most 1.5 MB.
#   scripts/make_pictures.sh [--program build/dragoman] [--model quickstart/model] [--output docs/pictures]
#       [--frames N] [--language en|zh] [--sentence TEXT]
#   --frames    pictures of the story from beginning to end (default: 150, shown for 0.16 s each)
#   --language  of the page; zh writes story_zh.webp
# Needs scripts/install_dependencies.sh --pictures, and a model of scripts/quickstart.sh.
set -euo pipefail
export LC_ALL=C.UTF-8  # text is UTF-8, numbers have a point, order is that of bytes
cd "$(dirname "$0")/.."
for program in chromium img2webp python3; do
  if ! command -v "$program" >/dev/null; then
    echo "make_pictures.sh: $program is not there; scripts/install_dependencies.sh --pictures installs it" >&2
    exit 1
  fi
done
exec python3 scripts/make_pictures.py "$@"

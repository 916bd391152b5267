#!/bin/sh
# Shows one item of the inbox on the desktop. Needs jq and notify-send.
set -eu
told=$(cat)
field() { printf '%s' "$told" | jq -r "$1"; }
notify-send "Symphony: $(field '.issue // .project // "all projects"')" "$(field .text)"

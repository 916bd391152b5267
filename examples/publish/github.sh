#!/bin/sh
# Pushes the branch of a pull request and opens a pull request on GitHub, or updates the one that is there.
# Needs jq and gh, logged in.
set -eu
told=$(cat)
field() { printf '%s' "$told" | jq -r "$1"; }
branch=$(field .branch)
title="$(field .issue): $(field .title)"
printf '%s' "$told" | "$(dirname "$0")/push.sh"
url=$(field '.url // empty')
if [ -n "$url" ]; then
    field .body | gh pr edit "$url" --title "$title" --body-file - >/dev/null
    echo "$url"
else
    field .body | gh pr create --head "$branch" --base "$(field .base)" --title "$title" --body-file -
fi

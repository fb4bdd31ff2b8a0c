#!/bin/sh
# Makes an image for deploy/compose.yaml from the programs of this machine: the tests must not pull one.
#
#   deploy-image.sh FOLDER IMAGE
#
# FOLDER is new, and gets the files of the image. It has what ready.sh needs, and no more.
set -eu

mkdir -p "$1/bin" "$1/data" "$1/tmp"
for program in redis-server redis-cli sh date head sed sleep timeout tr; do
  file=$(command -v "$program")
  cp -L "$file" "$1/bin/$program"
  ldd "$file" | grep -o '/[^ ]*' | while IFS= read -r library; do
    mkdir -p "$1$(dirname "$library")"
    cp -L "$library" "$1$library"
  done
done
tar -C "$1" -cf - . | docker import --change 'ENV PATH=/bin' - "$2"

# cmake --install: bin/falconbench, the engine beside it in lib/falconbench, and the shipped configs and schemas.
include_guard(GLOBAL)
include(GNUInstallDirs)

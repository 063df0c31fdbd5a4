#include "cli/guarded.h"

int main(int argc, char** argv) {
  return falcon::cli::guarded_main(argc, argv);
}

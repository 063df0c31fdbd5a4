// The outermost frame of the program: turns every exception into a message on stderr and an exit
// code.
#pragma once

namespace falcon::cli {

int guarded_main(int argc, char** argv) noexcept;

}  // namespace falcon::cli

#include "process/stdio.h"

#include "sys/io.h"

namespace holdfast::process {
namespace {

Result<Stdio> OpenTerminal(const Terminal& terminal) {
  TRY(sys::Pty pty, sys::OpenPty(terminal.size));
  Stdio stdio;
  TRY(stdio.input, sys::Duplicate(pty.master.get()));
  stdio.output = std::move(pty.master);
  TRY(stdio.child_out, sys::Duplicate(pty.slave.get()));
  TRY(stdio.child_err, sys::Duplicate(pty.slave.get()));
  stdio.child_in = std::move(pty.slave);
  return stdio;
}

Result<Stdio> OpenPipes(const Pipes& pipes) {
  Stdio stdio;
  if (pipes.stdin_mode == Stdin::kPipe) {
    TRY(sys::Pipe in, sys::MakePipe(sys::OurEnd::kWrite));
    stdio.child_in = std::move(in.read_end);
    stdio.input = std::move(in.write_end);
  } else {
    TRY(stdio.child_in, sys::OpenDevNull());
  }
  TRY(sys::Pipe out, sys::MakePipe(sys::OurEnd::kRead));
  TRY(sys::Pipe err, sys::MakePipe(sys::OurEnd::kRead));
  stdio.output = std::move(out.read_end);
  stdio.error = std::move(err.read_end);
  stdio.child_out = std::move(out.write_end);
  stdio.child_err = std::move(err.write_end);
  return stdio;
}

}  // namespace

Result<Stdio> OpenStdio(const Io& io) {
  if (const auto* terminal = std::get_if<Terminal>(&io)) return OpenTerminal(*terminal);
  return OpenPipes(std::get<Pipes>(io));
}

}  // namespace holdfast::process

// An act of exec_caller that exchanges a standard stream while its call of execve waits.
#pragma once

// A thread executes a program, and another thread of the process then opens a file in the place of standard output. The
// words are a FIFO that the act waits for, the file, and the program with its arguments. The file exists once it is in
// place, and is not empty.
int ExchangeOutput(char** words);

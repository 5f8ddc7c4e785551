// An act of exec_caller with sockets whose last close blocks.
#pragma once

// Executes a program with copies of a TCP socket that lingers as its descriptors, and with a unix socket that has
// another one in its queue. The words are the port of the test's LingeringPeer, the number of copies, and the program
// with its arguments.
int WithLingeringSockets(char** words);

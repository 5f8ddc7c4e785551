/* Executions of a shell go through a wrapper, if the variable BASH_EXEC_WRAPPER names one. The wrapper is executed with
   the path of the program and then all of the program's arguments. This file is included by execute_cmd.c of Bash
   (build). */
#ifndef HOLDFAST_EXEC_WRAPPER_H
#define HOLDFAST_EXEC_WRAPPER_H

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define EXEC_WRAPPER_VARIABLE "BASH_EXEC_WRAPPER"

static char* exec_wrapper_at_start;

/* The wrapper that the shell was started with holds for its whole life: a script cannot go without it by changing the
 * variable. */
__attribute__((constructor)) static void remember_exec_wrapper(int argc, char** argv, char** env) {
  (void)argc;
  (void)argv;
  for (; env && *env; env++)
    if (strncmp(*env, EXEC_WRAPPER_VARIABLE "=", sizeof EXEC_WRAPPER_VARIABLE) == 0)
      exec_wrapper_at_start = strdup(*env + sizeof EXEC_WRAPPER_VARIABLE);
}

/* Returns the path of the wrapper, or a null pointer if there is none. A shell that was started without a wrapper may
   export the variable itself. */
static const char* exec_wrapper_for(char** env) {
  if (exec_wrapper_at_start && *exec_wrapper_at_start) return exec_wrapper_at_start;
  for (; env && *env; env++)
    if (strncmp(*env, EXEC_WRAPPER_VARIABLE "=", sizeof EXEC_WRAPPER_VARIABLE) == 0)
      return (*env)[sizeof EXEC_WRAPPER_VARIABLE] ? *env + sizeof EXEC_WRAPPER_VARIABLE : NULL;
  return NULL;
}

/* Executes the wrapper in the place of PATH, if there is a wrapper. Returns 0 if there is none. Returns EX_NOEXEC if
   the wrapper cannot be executed: no program ever runs without it. */
static int execute_by_wrapper(char* path, char** argv, char** env) {
  const char* wrapper = exec_wrapper_for(env);
  size_t count = 0;
  char** words;
  int error;

  if (wrapper == NULL) return 0;
  while (argv[count]) count++;
  words = malloc((count + 3) * sizeof *words);
  if (words) {
    words[0] = (char*)wrapper;
    words[1] = path;
    memcpy(words + 2, argv, (count + 1) * sizeof *words);
    execve(wrapper, words, env);
  }
  error = errno;
  internal_error("%s: the wrapper cannot be executed: %s", wrapper, strerror(error));
  free(words);
  errno = error;
  return last_command_exit_value = EX_NOEXEC;
}

#endif

/* Empty: see libtorch_name.h. */

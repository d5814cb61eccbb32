"""The compiler and the hardware as judges. The only package of the tool that needs torch and triton."""

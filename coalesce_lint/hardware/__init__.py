"""What a warp fetches: the compiler's layout of lanes over a tile, and the sectors its requests touch.
Needs no Triton."""

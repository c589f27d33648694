"""What more than one program does to text: mask, tokenize, encode, show."""

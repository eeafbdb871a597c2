api ''

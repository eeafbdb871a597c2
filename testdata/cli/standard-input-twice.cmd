lint - --dump -

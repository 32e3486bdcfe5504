namespace Corfu.Load;

/// <summary>The end of what a process printed, for the report of its failure.</summary>
internal sealed class LastLines
{
    private const int Kept = 12;
    private const int MaxLength = 400;

    private readonly Queue<string> _lines = new();

    public void Add(string? line)
    {
        if (string.IsNullOrWhiteSpace(line)) return;
        lock (_lines)
        {
            if (_lines.Count == Kept) _lines.Dequeue();
            _lines.Enqueue(line.Length > MaxLength ? line[..MaxLength] : line);
        }
    }

    public override string ToString()
    {
        lock (_lines) return string.Join('\n', _lines.Select(line => "    " + line));
    }
}

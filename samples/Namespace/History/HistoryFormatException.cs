namespace NamespaceSample.History;

/// <summary>A history or list of paths that cannot be read, or does not fit itself.</summary>
public sealed class HistoryFormatException : Exception
{
    public HistoryFormatException(string file, string message, Exception? inner = null)
        : base($"{file}: {message}", inner)
    {
    }

    public HistoryFormatException(string file, int line, string message)
        : base($"{file}, line {line}: {message}") => Line = line;

    /// <summary>From 1; null: it concerns the whole file.</summary>
    public int? Line { get; }
}

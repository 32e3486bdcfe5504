namespace Craq;

/// <summary>Names one write of one client incarnation, so that a repeated request is applied once.</summary>
/// <param name="Writer">Random with each client.</param>
/// <param name="Sequence">Counts the client's writes, from 1.</param>
public readonly record struct WriteId(Guid Writer, long Sequence)
{
    public static readonly WriteId None;

    public bool IsNone => Sequence == 0;

    public override string ToString() => $"{Writer.ToString("N")[..8]}:{Sequence}";
}

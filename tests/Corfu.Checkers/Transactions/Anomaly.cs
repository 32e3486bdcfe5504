namespace Corfu.Checkers;

/// <summary>Anomalies that strict serializability forbids, named as by Adya and Elle (Kingsbury and Alvaro, VLDB
/// 2020).</summary>
public enum AnomalyKind
{
    /// <summary>Writes that depend on each other in a circle.</summary>
    G0,

    /// <summary>A read of what an aborted transaction wrote.</summary>
    G1a,

    /// <summary>A read of what a transaction wrote before its last write.</summary>
    G1b,

    /// <summary>Writes and reads that depend on each other in a circle.</summary>
    G1c,

    /// <summary>A circle with one read of what another transaction replaced: read skew, lost updates.</summary>
    GSingle,

    /// <summary>A circle with several such reads: write skew.</summary>
    G2,

    /// <summary>An order that exists, but contradicts the clock.</summary>
    RealTime,

    /// <summary>A transaction whose own steps contradict each other.</summary>
    Internal,

    /// <summary>A read that is no beginning of the list.</summary>
    Order,
    LostAppend,
    Duplicate,

    /// <summary>A value that no transaction wrote.</summary>
    Invented,
}

public sealed record Anomaly(AnomalyKind Kind, string Text)
{
    public override string ToString() => $"{Kind}: {Text}";
}

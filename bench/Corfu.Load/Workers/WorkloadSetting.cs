using Tango;

namespace Corfu.Load;

/// <summary>Objects that a workload works on. Equal settings share them from round to round.</summary>
internal sealed record WorkloadSetting
{
    public static WorkloadSetting Default { get; } = new();

    /// <summary>The object that this process reads and writes.</summary>
    public string Object { get; init; } = "load";

    /// <summary>A second object that some transactions write too; null: none.</summary>
    public string? Other { get; init; }

    /// <summary>Whether those transactions also read it. If not, this process hosts no view of it.</summary>
    public bool ReadsOther { get; init; }

    /// <summary>Which part of the transactions works on both objects, from 0 to 1.</summary>
    public double OtherShare { get; init; }

    /// <summary>Keys of an object.</summary>
    public int Keys { get; init; } = 10_000;

    /// <summary>Whether keys are chosen by a Zipf distribution with exponent 0.99; otherwise evenly.</summary>
    public bool Zipf { get; init; }

    /// <summary>How transactions are decided.</summary>
    public TransactionDecisions Decisions { get; init; }

    /// <summary>Streams that each append goes to.</summary>
    public int Streams { get; init; } = 1;

    /// <summary>Chains of CRAQ by their names, with commas between them.</summary>
    public string Chains { get; init; } = "";

    /// <summary>Whether other processes work on keys of their own.</summary>
    public bool OwnKeys { get; init; }

    /// <summary>Whether each caller has a connection of its own.</summary>
    public bool OwnConnections { get; init; }

    /// <summary>Connections of this process to a server of gRPC.</summary>
    public int Connections { get; init; } = 1;

    /// <summary>Whether a store keeps values that it has read.</summary>
    public bool CachesValues { get; init; } = true;

    /// <summary>Entries of one gRPC message, or keys of one call of a store.</summary>
    public int Batch { get; init; } = 1;
}

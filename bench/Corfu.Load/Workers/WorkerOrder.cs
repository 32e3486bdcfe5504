using System.Text.Json.Serialization;

namespace Corfu.Load;

/// <summary>What a generator process is told to do for one round; one line of JSON on its standard input.</summary>
/// <param name="Target">For echo and tokens <c>endpoint/identity/cluster</c> of the bare role, otherwise a connection
/// string.</param>
/// <param name="Callers">Operations at once from this process.</param>
/// <param name="Size">Payload bytes of one operation.</param>
internal sealed record WorkerOrder(WorkloadKind Kind, string Target, int Callers, int Size, double Seconds);

/// <summary>Its answer, one line too.</summary>
/// <param name="Histogram">Nanoseconds, see <see cref="LatencyHistogram.ToSparse"/>.</param>
internal sealed record WorkerReport(long[] Histogram, double Seconds, long Failures, string? Error = null);

/// <summary>What one operation is.</summary>
internal enum WorkloadKind
{
    /// <summary>A request of the payload's size, answered at once: the transport alone.</summary>
    Echo,

    /// <summary>One token of a bare sequencer.</summary>
    Token,

    /// <summary>A durable append through the client.</summary>
    Append,

    /// <summary>A linearizable check of the tail.</summary>
    Check,

    /// <summary>A Tango transaction that moves an amount between two of many keys.</summary>
    Transaction,
}

[JsonSourceGenerationOptions(UseStringEnumConverter = true)]
[JsonSerializable(typeof(WorkerOrder))]
[JsonSerializable(typeof(WorkerReport))]
[JsonSerializable(typeof(RunReport))]
internal sealed partial class LoadJson : JsonSerializerContext;

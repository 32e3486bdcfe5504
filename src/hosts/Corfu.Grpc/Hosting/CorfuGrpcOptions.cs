using Microsoft.Extensions.Options;

namespace Corfu.Grpc;

/// <summary>Limits of the gRPC front end.</summary>
/// <remarks>A call without a deadline ends at the latest with the client's
/// <see cref="Client.CorfuClientOptions.OperationTimeout"/>; subscriptions and streams of appends end with their
/// connection.</remarks>
public sealed class CorfuGrpcOptions
{
    internal static readonly OptionRules<CorfuGrpcOptions> Rules = new OptionRules<CorfuGrpcOptions>(new())
        .AtLeast(o => o.MaxReceiveMessage, 1)
        .AtLeast(o => o.MaxBatchBytes, 1)
        .AtLeast(o => o.MaxBatchEntries, 1)
        .AtLeast(o => o.MaxAnswerBytes, 1 << 16)
        .AtLeast(o => o.MaxEntriesInFlight, 1)
        .AtLeast(o => o.MaxBytesInFlight, o => o.MaxReceiveMessage)
        .AtLeast(o => o.MaxBytesOfCaller, o => o.MaxReceiveMessage)
        .AtLeast(o => o.MaxConnections, 1)
        .AtLeast(o => o.MaxStreamsPerConnection, 1)
        .AtLeast(o => o.MaxCallsOfCaller, 1)
        .AtLeast(o => o.MaxCallsPerSecond, 1)
        .AtLeast(o => o.MaxBytesPerSecond, 1)
        .AtLeast(o => o.MaxSettleSpan, 1)
        .Between(o => o.MaxPositions, 1, MessageLimits.MaxItems)
        .AtLeast(o => o.MaxSubscriptions, 1)
        .AtLeast(o => o.MaxSubscriptionsOfCaller, 1)
        .Above(o => o.TailInterval, TimeSpan.Zero)
        .Above(o => o.Heartbeat, TimeSpan.Zero)
        .AtLeast(o => o.DeadlineMargin, TimeSpan.Zero)
        .Include(o => o.Tango, TangoGrpcOptions.Rules);

    /// <summary>Bytes of one message that a client may send. Default 4 MiB, which is also what gRPC's clients
    /// accept.</summary>
    public int MaxReceiveMessage { get; set; } = 4 << 20;

    /// <summary>Bytes at which a message to the client is full; an entry that is larger goes alone. Default 1
    /// MiB.</summary>
    public int MaxBatchBytes { get; set; } = 1 << 20;

    /// <summary>Bytes of an answer that is not divided into messages. A call that would have a larger one is refused, a
    /// transaction before it commits. Default 4 MiB, which is what gRPC's clients accept.</summary>
    public int MaxAnswerBytes { get; set; } = 4 << 20;

    /// <summary>Entries in one message to the client. Default 512.</summary>
    public int MaxBatchEntries { get; set; } = 512;

    /// <summary>Entries of one AppendMany call whose outcome is open; beyond, the call is not read further. Default
    /// 4,096.</summary>
    public int MaxEntriesInFlight { get; set; } = 4096;

    /// <summary>Bytes of appends and read batches that all calls hold together; beyond, streams and reads wait, and
    /// single appends are refused. Default 256 MiB.</summary>
    public long MaxBytesInFlight { get; set; } = 256 << 20;

    /// <summary>The same of one caller: the holder of a certificate, or an address where nothing authenticates callers.
    /// Default 64 MiB.</summary>
    public long MaxBytesOfCaller { get; set; } = 64 << 20;

    /// <summary>Connections at once; more are closed. Of a listener of the front end's own: other hosts have Kestrel's
    /// limits. Default 1,024.</summary>
    public int MaxConnections { get; set; } = 1024;

    /// <summary>Calls at once of one connection; more wait at the client. Of a listener of the front end's own. Default
    /// 1,024.</summary>
    public int MaxStreamsPerConnection { get; set; } = 1024;

    /// <summary>Calls at once of one caller, beside subscriptions, watches and sessions; more are refused. Default
    /// 512.</summary>
    public int MaxCallsOfCaller { get; set; } = 512;

    /// <summary>Calls a second of one caller; more are refused. Default null: any number.</summary>
    public int? MaxCallsPerSecond { get; set; }

    /// <summary>Bytes of requests a second of one caller: more calls are refused, and streams of appends not read.
    /// Default null: any number.</summary>
    public int? MaxBytesPerSecond { get; set; }

    /// <summary>Positions that one Settle call looks at. Default 65,536.</summary>
    public int MaxSettleSpan { get; set; } = 65536;

    /// <summary>Positions of one Read call, and origins of one Settle call. Default 4,096.</summary>
    public int MaxPositions { get; set; } = 4096;

    /// <summary>Subscriptions at once; more are refused. Default 1,024.</summary>
    public int MaxSubscriptions { get; set; } = 1024;

    /// <summary>The same of one caller. Default 128.</summary>
    public int MaxSubscriptionsOfCaller { get; set; } = 128;

    /// <summary>How often the tail is looked at while subscriptions wait for it; one look serves all. Default 10
    /// ms.</summary>
    public TimeSpan TailInterval { get; set; } = TimeSpan.FromMilliseconds(10);

    /// <summary>A subscription to which nothing is delivered is told its position so often. Default 5 s.</summary>
    public TimeSpan Heartbeat { get; set; } = TimeSpan.FromSeconds(5);

    /// <summary>How long before a deadline an append under way is answered as unknown, so that the answer still
    /// arrives; at most a fifth of the time that the call has. Default 50 ms.</summary>
    public TimeSpan DeadlineMargin { get; set; } = TimeSpan.FromMilliseconds(50);

    /// <summary>Whether the services describe themselves to tools such as grpcurl. Default true: the contract is
    /// public.</summary>
    public bool Reflection { get; set; } = true;

    /// <summary>Whether callers need the rights that <see cref="MethodAccess"/> names: the host authenticates them, by
    /// certificates or by tokens, and the policies of <see cref="CorfuPolicies"/> decide. Then the options that allow
    /// what is off by default do not count. Default false: every caller may do all that the options allow.</summary>
    public bool RequireRights { get; set; }

    /// <summary>The file that grants rights to the role <c>caller</c>, as docs/grpc.md shows it. It is read again when
    /// it changes. Default null: that role has no rights.</summary>
    public string? AccessFile { get; set; }

    /// <summary>Whether callers of <c>corfu.admin.v1</c> may change the cluster; they may look at it in any case.
    /// Default false: nothing authenticates them.</summary>
    public bool AllowAdmin { get; set; }

    /// <summary>Whether callers may release what others wrote (<c>Trim</c>, <c>TrimPrefix</c>) and close holes without
    /// waiting for their writers (<c>Fill</c>). Default false.</summary>
    public bool AllowTrims { get; set; }

    /// <summary>Whether callers may append to the streams of objects (<c>to_objects</c>), as a Tango runtime over gRPC
    /// does. A wrong entry ends an object for good, and only its shape is checked. The system's streams, the
    /// directory's among them, are refused in any case. Default false.</summary>
    public bool AllowObjectAppends { get; set; }

    /// <summary>Limits of <c>corfu.tango.v1</c>.</summary>
    public TangoGrpcOptions Tango { get; } = new();
}

/// <summary>All faults in one message.</summary>
internal sealed class CorfuGrpcOptionsValidator : IValidateOptions<CorfuGrpcOptions>
{
    public ValidateOptionsResult Validate(string? name, CorfuGrpcOptions options) =>
        CorfuGrpcOptions.Rules.FaultsOf(options) is { Count: > 0 } faults
            ? ValidateOptionsResult.Fail(faults)
            : ValidateOptionsResult.Success;
}

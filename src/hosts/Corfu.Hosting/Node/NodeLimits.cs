using System.Text.Json;
using System.Text.Json.Serialization;
using Corfu.Agent;
using Corfu.Detection;
using Corfu.Register;
using Corfu.Sequencer;
using Corfu.Server;
using Corfu.Unit;

namespace Corfu.Hosting;

/// <summary>Limits of what a node runs, as <c>limits</c> in its configuration file; what is left out has its default.
/// Sizes of a unit's log page and segment hold from the formatting of its folder on.</summary>
public sealed record NodeLimits
{
    private static readonly JsonSerializerOptions s_json = new(JsonSerializerDefaults.Web)
    {
        UnmappedMemberHandling = JsonUnmappedMemberHandling.Disallow,
        PreferredObjectCreationHandling = JsonObjectCreationHandling.Populate,
    };

    /// <summary>The listener of the process.</summary>
    public ServerTransportOptions Server { get; init; } = new();

    /// <summary>The units: the largest payload, the number of streams, the requests that wait (<c>handler</c>) and the
    /// sizes of the store (<c>store</c>).</summary>
    public UnitNodeOptions Unit { get; init; } = new();

    public SequencerOptions Sequencer { get; init; } = new();

    public AcceptorOptions Acceptor { get; init; } = new();

    public AgentLimits Agent { get; init; } = new();

    /// <summary>The gRPC front end, which checks them when it starts. Null: its defaults.</summary>
    public JsonElement? Grpc { get; init; }

    /// <summary>The front end for clients of ZooKeeper, which checks them when it starts. Null: its defaults.</summary>
    public JsonElement? ZooKeeper { get; init; }

    /// <summary>The front end for clients of etcd, which checks them when it starts. Null: its defaults.</summary>
    public JsonElement? Etcd { get; init; }

    /// <exception cref="JsonException">A name is unknown, or a value is not of its type.</exception>
    internal static NodeLimits Read(JsonElement json) => json.Deserialize<NodeLimits>(s_json) ?? new NodeLimits();

    /// <summary>The limits of a front end; null: its defaults.</summary>
    internal JsonElement? Of(string frontEnd) => frontEnd switch
    {
        "grpc" => Grpc,
        "zookeeper" => ZooKeeper,
        "etcd" => Etcd,
        _ => null,
    };

    /// <summary>Every fault, each with the name of its options.</summary>
    internal IEnumerable<string> Faults()
    {
        // A unit's folder and identity are not limits: they belong to the node's roles.
        if (Unit != Unit with { Folder = "", MustExist = false, Id = default, Cluster = default })
            yield return "Limits: a unit's folder and identity belong to its role.";
        Action[] checks =
        [
            Server.Validate, Unit.Validate, Sequencer.Validate, Acceptor.Validate, Agent.Detector.Validate,
            Agent.Policy.Validate,
            Agent.Rebuild.Validate, Agent.Migration.Validate, () => Agent.Scrub?.Validate(),
        ];
        foreach (var check in checks)
        {
            if (FaultOf(check) is { } fault) yield return $"Limits: {fault}";
        }
    }

    private static string? FaultOf(Action check)
    {
        try
        {
            check();
            return null;
        }
        catch (ArgumentException e)
        {
            return e.Message;
        }
    }
}

/// <summary>Limits of a node's agent.</summary>
public sealed record AgentLimits
{
    public DetectorOptions Detector { get; init; } = new();

    public PolicyOptions Policy { get; init; } = new();

    public RebuildOptions Rebuild { get; init; } = new();

    public RebuildOptions Migration { get; init; } = new() { BatchesInFlight = 2, BytesPerSecond = 32 << 20 };

    /// <summary>Null: there is no scrub.</summary>
    public ScrubOptions? Scrub { get; init; } = new();
}

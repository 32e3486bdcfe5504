namespace Craq.Protocol;

/// <summary>Asks a member whether it is exactly at these epochs, for strong reads that wait at the sender.</summary>
public sealed record ConfirmRequest(Epoch Epoch, ImmutableArray<ChainEpoch> Chains)
    : Request<ConfirmResponse>(CraqOpcode.Confirm, Epoch)
{
    public const int MaxChains = 1024;

    public override void WriteBody(ref WireWriter w) => w.Array(Chains, static (ref w, chain) =>
    {
        w.Guid(chain.Chain.Value);
        w.Epoch(chain.Epoch);
    });

    internal static ConfirmRequest Read(Epoch epoch, ref WireReader r) => new(epoch,
        r.Array(24, static (ref r) => new ChainEpoch(new ChainId(r.Guid()), r.Epoch()), MaxChains));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ConfirmResponse(status, epoch)
        {
            Chains = r.Array(17, static (ref r) => new ChainConfirmation(r.Bool(), r.Epoch(), r.Version()), MaxChains),
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ConfirmResponse(status, epoch);
}

/// <summary>The chains' confirmations, in the order of the request.</summary>
public sealed record ConfirmResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public ImmutableArray<ChainConfirmation> Chains { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Array(Chains, static (ref w, chain) =>
        {
            w.Bool(chain.IsExact);
            w.Epoch(chain.Epoch);
            w.Version(chain.Mark);
        });
    }
}

public readonly record struct ChainEpoch(ChainId Chain, Epoch Epoch);

/// <param name="IsExact">The member is full in exactly the epoch asked for, and that epoch is open there.</param>
/// <param name="Epoch">The member's own; none: it has no such chain.</param>
/// <param name="Mark">The member's mark; the tail's is the chain's.</param>
public readonly record struct ChainConfirmation(bool IsExact, Epoch Epoch, ObjectVersion Mark);

using System.Numerics;

namespace Craq.Protocol;

/// <summary>Asks any node for the configs of chains; nothing named: of all that the node is a member of, up to
/// <see cref="MaxChains"/>.</summary>
/// <param name="Keyspaces">Names of keyspaces, whose chains come along.</param>
public sealed record ChainsRequest(Epoch Epoch, ImmutableArray<ChainId> Chains, ImmutableArray<string> Keyspaces)
    : Request<ChainsResponse>(CraqOpcode.Chains, Epoch)
{
    public const int MaxChains = 1024;

    public override void WriteBody(ref WireWriter w)
    {
        w.Array(Chains, static (ref w, chain) => w.Guid(chain.Value));
        w.Array(Keyspaces, static (ref w, name) => w.Text(name));
    }

    internal static ChainsRequest Read(Epoch epoch, ref WireReader r) => new(epoch,
        r.Array(16, static (ref r) => new ChainId(r.Guid()), MaxChains),
        r.Array(4, static (ref r) => r.Text(ChainConfig.MaxName), MaxChains));

    public override Response ReadResponse(Status status, Epoch epoch, ref WireReader r) => status == Status.Ok
        ? new ChainsResponse(status, epoch)
        {
            Views = r.Array(64, static (ref r) => r.View(), MaxChains),
            Keyspaces = r.Array(8, KeyspaceView.Read, MaxChains),
        }
        : Fail(status, epoch);

    public override Response Fail(Status status, Epoch epoch) => new ChainsResponse(status, epoch);
}

/// <summary>The newest configs that the node knows. A chain or keyspace that is not known to it is left out.</summary>
public sealed record ChainsResponse(Status Status, Epoch Epoch) : Response(Status, Epoch)
{
    public ImmutableArray<ChainView> Views { get; init; } = [];

    public ImmutableArray<KeyspaceView> Keyspaces { get; init; } = [];

    public override void WriteBody(ref WireWriter w)
    {
        if (!IsOk) return;
        w.Array(Views, static (ref w, view) => w.View(view));
        w.Array(Keyspaces, static (ref w, keyspace) => keyspace.Write(ref w));
    }
}

/// <summary>A name over a fixed array of chains: the key's hash says the chain.</summary>
/// <param name="Chains">A power of two of them.</param>
public sealed record KeyspaceView(string Name, ImmutableArray<ChainId> Chains)
{
    /// <summary>The chain of a key, the same for every client for ever: the upper bits of the key's CRC-32C, mixed by a
    /// multiplication, since the CRCs of similar keys differ in few bits.</summary>
    public ChainId ChainOf(ObjectKey key)
    {
        var bits = BitOperations.Log2((uint)Chains.Length);
        var mixed = Crc32C.Compute(key.Bytes.Span) * 0x9E3779B97F4A7C15UL;
        return Chains[bits == 0 ? 0 : (int)(mixed >> (64 - bits))];
    }

    internal void Write(ref WireWriter w)
    {
        w.Text(Name);
        w.Array(Chains, static (ref w, chain) => w.Guid(chain.Value));
    }

    internal static KeyspaceView Read(ref WireReader r)
    {
        var name = r.Text(ChainConfig.MaxName);
        var chains = r.Array(16, static (ref r) => new ChainId(r.Guid()), ChainsRequest.MaxChains);
        return BitOperations.IsPow2(chains.Length)
            ? new KeyspaceView(name, chains)
            : throw new MalformedDataException("A keyspace's chains are no power of two.");
    }
}

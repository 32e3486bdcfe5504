namespace Corfu.Protocol;

/// <summary>Decodes a request's body. A field that the connection's version does not have yet gets its
/// default.</summary>
public delegate Request RequestReader(Epoch epoch, ref WireReader r);

/// <summary>
/// The requests that a process decodes, each with the protocol version that introduced it. Every role adds its own;
/// after that the table does not change. The rules of a change (docs/compatibility.md):
/// <list type="bullet">
/// <item>A new field stands at the end of its body. An older reader passes over it; a newer one that finds no bytes
/// left takes the default.</item>
/// <item>A new opcode, status or enum value raises <see cref="WireProtocol.Highest"/>, and is not sent on a connection
/// of a lower version.</item>
/// <item>Nothing is removed, reordered or reused before <see cref="WireProtocol.Lowest"/> has risen above its last
/// version.</item>
/// </list>
/// </summary>
public sealed class RequestTable
{
    private readonly (ushort Since, RequestReader? Read)[] _requests = new (ushort, RequestReader?)[256];

    /// <param name="roles">Each adds the requests of one role.</param>
    public RequestTable(params ReadOnlySpan<Action<RequestTable>> roles)
    {
        foreach (var add in roles) add(this);
    }

    /// <param name="since">The first version that has the request.</param>
    /// <exception cref="ArgumentException">The opcode is taken, or is none.</exception>
    public void Add(Opcode opcode, RequestReader read, ushort since = WireProtocol.Baseline)
    {
        if (opcode == Opcode.None) throw new ArgumentException("A request needs an opcode.", nameof(opcode));
        ref var slot = ref _requests[(byte)opcode];
        if (slot.Read is not null)
            throw new ArgumentException(
                $"The opcode {(byte)opcode} ({opcode}) is another request's already.", nameof(opcode));
        slot = (since, read);
    }

    /// <summary>Null for an opcode that this build, or the connection's version, does not have.</summary>
    internal RequestReader? ReaderOf(Opcode opcode, ushort version)
    {
        var (since, read) = _requests[(byte)opcode];
        return since <= version ? read : null;
    }
}

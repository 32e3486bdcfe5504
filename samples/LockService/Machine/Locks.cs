using Corfu.StateMachines;

namespace LockServiceSample.Machine;

/// <summary>Locks with fencing tokens: the machine that is replicated.</summary>
/// <remarks>The machine has no clock, and <see cref="CommandContext.Time"/> may leap. A replica that has seen no sign
/// of life of a holder for the time to live proposes <see cref="LockVerb.Expire"/>. The order of commands decides
/// whether a renewal came first.</remarks>
internal sealed class Locks() : TypedMachine<LockOrder, LockReply>(Options)
{
    public static readonly MessagePackSerializerOptions Options = MessagePackSerializerOptions.Standard;

    private static readonly LockReply s_free = new(false, 0);

    private readonly SortedDictionary<string, Held> _held = new(StringComparer.Ordinal);

    // Never given again: also the token of a lock that was free for long is lower than the next one.
    private long _lastToken;

    public Held? Find(string name) => _held.GetValueOrDefault(name);

    public IReadOnlyList<Held> All => [.. _held.Values];

    protected override LockReply Apply(LockOrder order, in CommandContext context)
    {
        Held? held = Find(order.Name);
        if (order.Verb == LockVerb.Acquire)
        {
            if (held is not null) return new LockReply(held.Owner == order.Owner, held.Token);
            _held[order.Name] = new Held(order.Name, order.Owner, ++_lastToken, 0);
            return new LockReply(true, _lastToken);
        }

        if (held is null) return s_free;
        var refused = new LockReply(false, held.Token);
        if (held.Token != order.Token) return refused;
        if (order.Verb == LockVerb.Renew)
        {
            _held[order.Name] = held with { Renewals = held.Renewals + 1 };
            return new LockReply(true, held.Token);
        }

        if (order.Verb == LockVerb.Expire && held.Renewals != order.Renewals) return refused;
        _held.Remove(order.Name);
        return new LockReply(true, 0);
    }

    public override IMachineSnapshot Capture() =>
        new Saved(MessagePackSerializer.Serialize(new LockContents(_lastToken, [.. _held.Values]), Options));

    public override async ValueTask RestoreAsync(Stream snapshot, CancellationToken cancellationToken = default)
    {
        LockContents contents =
            await MessagePackSerializer.DeserializeAsync<LockContents>(snapshot, Options, cancellationToken);
        _lastToken = contents.LastToken;
        foreach (Held held in contents.Held) _held.Add(held.Name, held);
    }

    private sealed class Saved(byte[] bytes) : IMachineSnapshot
    {
        public async ValueTask SaveAsync(Stream destination, CancellationToken cancellationToken = default) =>
            await destination.WriteAsync(bytes, cancellationToken);

        public void Dispose()
        {
        }
    }
}

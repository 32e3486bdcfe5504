namespace Corfu.Server;

/// <summary>Memory of large frames that have not arrived whole. A connection that gets none is not read, so its peer
/// waits; none is refused.</summary>
internal sealed class FrameBudget(RoleRegistry registry)
{
    /// <summary>Smaller frames are not counted: connections are, and these are their least part.</summary>
    internal const int CountedFrom = 64 << 10;

    /// <summary>A connection that waits for memory.</summary>
    internal sealed class Waiter(Identity identity, int bytes)
    {
        private readonly TaskCompletionSource<bool> _end = new(TaskCreationOptions.RunContinuationsAsynchronously);

        public Identity Identity => identity;

        public int Bytes => bytes;

        /// <summary>False: it was cancelled.</summary>
        public Task<bool> Granted => _end.Task;

        public void End(bool granted) => _end.SetResult(granted);
    }

    private readonly Lock _gate = new();

    // Guarded by _gate, with every identity's FrameBytes, whose sum _taken is.
    private readonly LinkedList<Waiter> _waiting = new();
    private long _taken;

    public bool TryTake(Identity identity, int bytes)
    {
        lock (_gate)
        {
            // No newcomer overtakes a frame for which only the whole budget is short.
            if (!FitsOwn(identity, bytes) || !FitsAll(identity, bytes)
                || (!identity.IsNode && _waiting.Any(w => FitsOwn(w.Identity, w.Bytes)))) return false;
            Take(identity, bytes);
            return true;
        }
    }

    /// <summary>The waiter is to be cancelled when its connection ends.</summary>
    public Waiter Wait(Identity identity, int bytes)
    {
        var waiter = new Waiter(identity, bytes);
        lock (_gate)
        {
            _waiting.AddLast(waiter);
            Serve();
        }

        return waiter;
    }

    public void Cancel(Waiter waiter)
    {
        lock (_gate)
        {
            if (!_waiting.Remove(waiter)) return;
            waiter.End(granted: false);
            Serve();
        }
    }

    public void Return(Identity identity, int bytes)
    {
        lock (_gate)
        {
            identity.FrameBytes -= bytes;
            _taken -= bytes;
            Serve();
        }
    }

    // Under the gate. In the order of their coming, but an identity at its own limit holds up no other.
    private void Serve()
    {
        var isShort = false;
        for (var node = _waiting.First; node is not null;)
        {
            var (waiter, next) = (node.Value, node.Next);
            if (FitsOwn(waiter.Identity, waiter.Bytes))
            {
                if ((!isShort || waiter.Identity.IsNode) && FitsAll(waiter.Identity, waiter.Bytes))
                {
                    _waiting.Remove(node);
                    Take(waiter.Identity, waiter.Bytes);
                    waiter.End(granted: true);
                }
                else
                {
                    isShort = true;
                }
            }

            node = next;
        }
    }

    private void Take(Identity identity, int bytes)
    {
        identity.FrameBytes += bytes;
        _taken += bytes;
    }

    // A frame that is larger than a limit gets all of it.
    private bool FitsOwn(Identity identity, int bytes) =>
        identity.FrameBytes == 0 || identity.FrameBytes + bytes <= registry.Options.MaxIdentityFrameBytes;

    private bool FitsAll(Identity identity, int bytes)
    {
        var options = registry.Options;
        var limit = options.MaxFrameBytes + (identity.IsNode ? options.ReservedFrameBytes : 0);
        return _taken == 0 || _taken + bytes <= limit;
    }
}

namespace Corfu.Grpc;

/// <summary>Counts the objects that each caller has open. An object counts from its last use by the caller for as long
/// as the runtime keeps it: a caller that names many objects closes no other caller's.</summary>
internal sealed class ObjectPlaces(Func<int> limit, Func<TimeSpan> stay, TimeProvider time)
{
    // Callers that have not called for a while are forgotten when there are so many.
    private const int ManyCallers = 256;

    private readonly Lock _gate = new();

    // Guarded by _gate: the time of the last use of each object by each caller.
    private readonly Dictionary<string, Dictionary<string, long>> _used = new(StringComparer.Ordinal);

    public int Count
    {
        get
        {
            lock (_gate) return _used.Values.Sum(static objects => objects.Count);
        }
    }

    /// <exception cref="FrontEndLimitException">The caller has as many open as it may, and this is another
    /// one.</exception>
    public void Use(string caller, string name)
    {
        var now = time.GetTimestamp();
        lock (_gate)
        {
            if (!_used.TryGetValue(caller, out var objects))
            {
                if (_used.Count >= ManyCallers) ForgetIdle(now);
                _used.Add(caller, objects = new Dictionary<string, long>(StringComparer.Ordinal));
            }

            if (!objects.ContainsKey(name) && objects.Count >= limit())
            {
                RemoveIdle(objects, now);
                if (objects.Count >= limit())
                    throw new FrontEndLimitException(
                        nameof(TangoGrpcOptions.MaxObjectsOfCaller), limit(),
                        stay() - time.GetElapsedTime(objects.Values.Min(), now));
            }

            objects[name] = now;
        }
    }

    private void ForgetIdle(long now)
    {
        foreach (var (caller, objects) in _used)
        {
            RemoveIdle(objects, now);
            if (objects.Count == 0) _used.Remove(caller);
        }
    }

    private void RemoveIdle(Dictionary<string, long> objects, long now)
    {
        foreach (var (name, used) in objects)
        {
            if (time.GetElapsedTime(used, now) >= stay()) objects.Remove(name);
        }
    }
}

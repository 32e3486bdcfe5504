namespace Corfu.Grpc;

/// <summary>Counts what callers have at once: all together, and each.</summary>
/// <param name="all">The option that bounds all, and its value; null: nothing does.</param>
/// <param name="own">The option that bounds one caller, and its value.</param>
internal sealed class Places((string Name, Func<int> Limit)? all, (string Name, Func<int> Limit) own)
{
    private readonly Lock _gate = new();

    // Guarded by _gate. Invariant: _count is the sum of _own, whose values are positive.
    private readonly Dictionary<string, int> _own = new(StringComparer.Ordinal);
    private int _count;

    public int Count => Volatile.Read(ref _count);

    /// <returns>Gives the place back.</returns>
    /// <exception cref="FrontEndLimitException">None is left, for the caller or at all.</exception>
    public IDisposable Take(string caller)
    {
        lock (_gate)
        {
            var had = _own.GetValueOrDefault(caller);
            if (had >= own.Limit()) throw new FrontEndLimitException(own.Name, own.Limit());
            if (all is { } bound && _count >= bound.Limit())
                throw new FrontEndLimitException(bound.Name, bound.Limit());
            _own[caller] = had + 1;
            _count++;
        }

        return new Place(this, caller);
    }

    private void GiveBack(string caller)
    {
        lock (_gate)
        {
            _count--;
            if (_own[caller] == 1) _own.Remove(caller);
            else _own[caller]--;
        }
    }

    private sealed class Place(Places places, string caller) : IDisposable
    {
        private int _disposed;

        public void Dispose()
        {
            if (Interlocked.Exchange(ref _disposed, 1) == 0) places.GiveBack(caller);
        }
    }
}

/// <summary>A limit of the front end is reached. Nothing was done.</summary>
internal sealed class FrontEndLimitException(string name, long limit, TimeSpan? retryAfter = null)
    : Exception($"The front end's limit is reached: {name} is {limit}.")
{
    /// <summary>The option.</summary>
    public string Name { get; } = name;

    /// <summary>Null: not known, since others have to end.</summary>
    public TimeSpan? RetryAfter { get; } = retryAfter;
}

namespace Corfu.Agent;

/// <summary>Certificates that are revoked before their end, as this process was told. Entries are only added, so that
/// agents need no majority to agree: the list of a cluster is the union. Any thread.</summary>
public sealed class DenyList : IDenyList
{
    /// <summary>An entry goes so long after its certificate's end, since nodes are accepted for a while after
    /// theirs.</summary>
    internal static readonly TimeSpan KeptAfterEnd = TimeSpan.FromDays(90);

    private static readonly Comparer<(string Serial, string IssuerKey)> KeyOrder = Comparer<(string, string)>.Create(
        static (a, b) => string.CompareOrdinal(a.Item1, b.Item1) is not 0 and var order
            ? order
            : string.CompareOrdinal(a.Item2, b.Item2));

    private readonly Lock _gate = new();
    private readonly TimeProvider _time;

    // Written under _gate, replaced whole.
    private volatile State _state = new([], [], 0);

    /// <param name="remembered">The list before the process was started again.</param>
    public DenyList(IEnumerable<DeniedCertificate> remembered, TimeProvider? time = null)
    {
        _time = time ?? TimeProvider.System;
        TryAdd([.. remembered], isUnion: true, out _);
    }

    public event Action? Changed;

    /// <summary>Sorted.</summary>
    public ImmutableArray<DeniedCertificate> Entries => _state.Entries;

    /// <summary>As <see cref="PingRequest.DeniedDigest"/>.</summary>
    public ulong Digest => _state.Digest;

    public bool IsDenied(string serial, string issuerKey) => _state.Keys.Contains((serial, issuerKey));

    /// <summary>Adds all that a caller asks for, or nothing if the list has no room.</summary>
    /// <param name="isNew">Whether the list has changed.</param>
    /// <returns>False: the list is full.</returns>
    public bool TryAdd(ImmutableArray<DeniedCertificate> certificates, out bool isNew) =>
        TryAdd(certificates, isUnion: false, out isNew);

    /// <summary>Adds the entries of another agent, as far as there is room.</summary>
    /// <returns>Whether the list has changed.</returns>
    public bool Merge(ImmutableArray<DeniedCertificate> certificates)
    {
        TryAdd(certificates, isUnion: true, out var isNew);
        return isNew;
    }

    private bool TryAdd(ImmutableArray<DeniedCertificate> certificates, bool isUnion, out bool isNew)
    {
        isNew = false;
        if (certificates.IsEmpty) return true;
        lock (_gate)
        {
            var before = _state;
            var now = _time.GetUtcNow();
            SortedDictionary<(string, string), DeniedCertificate> all = new(KeyOrder);
            foreach (var entry in before.Entries.Where(entry => IsKept(entry, now))) all[KeyOf(entry)] = entry;
            foreach (var entry in certificates.Select(Normal).Where(entry => IsKept(entry, now)))
            {
                if (isUnion && all.Count >= DeniedCertificate.MaxCount) break;
                all.TryAdd(KeyOf(entry), entry);
            }

            if (all.Count > DeniedCertificate.MaxCount) return false;
            isNew = all.Keys.Any(key => !before.Keys.Contains(key));
            _state = new State([.. all.Values], [.. all.Keys], DigestOf(all.Keys));
        }

        if (isNew) Changed?.Invoke();
        return true;
    }

    private static (string Serial, string IssuerKey) KeyOf(DeniedCertificate entry) => (entry.Serial, entry.IssuerKey);

    private static DeniedCertificate Normal(DeniedCertificate entry) => entry with
    {
        Serial = entry.Serial.ToUpperInvariant(),
        IssuerKey = entry.IssuerKey.ToUpperInvariant(),
    };

    private static bool IsKept(DeniedCertificate entry, DateTimeOffset now) => now - entry.Until < KeptAfterEnd;

    // FNV-1a, so that processes of any build agree.
    private static ulong DigestOf(IEnumerable<(string Serial, string IssuerKey)> sorted)
    {
        ulong hash = 0;
        foreach (var (serial, issuerKey) in sorted)
        {
            if (hash == 0) hash = 14695981039346656037;
            foreach (var c in $"{serial}/{issuerKey};") hash = unchecked((hash ^ c) * 1099511628211);
        }

        return hash;
    }

    private sealed record State(ImmutableArray<DeniedCertificate> Entries,
        HashSet<(string Serial, string IssuerKey)> Keys, ulong Digest);
}

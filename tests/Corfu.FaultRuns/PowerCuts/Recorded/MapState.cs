namespace Corfu.FaultRuns.PowerCuts.Recorded;

/// <summary>A possible rest of the address map's folder.</summary>
/// <param name="From">A copy of the folder; null leaves nothing.</param>
/// <param name="Durable">The durable part of the copy, where it is torn.</param>
/// <param name="Seed">The seed of the tearing; 0 leaves the copy whole.</param>
internal sealed record MapState(string What, string? From, string? Durable, int Seed)
{
    public void Make(string target)
    {
        if (Directory.Exists(target)) Directory.Delete(target, recursive: true);
        if (From is null) return;
        MapFolders.Copy(From, target);
        if (Seed != 0) Tear(target, Durable, new Random(Seed));
    }

    // Bytes that equal the durable copy stay.
    private static void Tear(string target, string? durable, Random random)
    {
        foreach (var path in Directory.GetFiles(target, "*", SearchOption.AllDirectories).Order(StringComparer.Ordinal))
        {
            var bytes = File.ReadAllBytes(path);
            var was = durable is null ? null : Path.Combine(durable, Path.GetRelativePath(target, path));
            var safe = was is not null && File.Exists(was)
                ? File.ReadAllBytes(was).AsSpan().CommonPrefixLength(bytes)
                : 0;
            if (safe == bytes.Length) continue;
            for (var sector = safe; sector < bytes.Length; sector += 512)
            {
                if (random.Next(2) == 0) bytes.AsSpan(sector, Math.Min(512, bytes.Length - sector)).Clear();
            }

            File.WriteAllBytes(path, bytes.AsSpan(0, random.Next(safe, bytes.Length + 1)));
        }
    }
}

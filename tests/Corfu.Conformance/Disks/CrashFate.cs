namespace Corfu.Conformance;

/// <summary>The parts of an unsynced write that a power cut leaves: none, all, a beginning, or some sectors.</summary>
internal static class CrashFate
{
    public static IEnumerable<Range> Of(Random random, DiskEvent.Write write)
    {
        switch (random.Next(4))
        {
            case 0:
                return [];
            case 1:
                return [Range.All];
            case 2:
                return [Range.EndAt(random.Next(write.Bytes.Length + 1))];
            default:
                var kept = new List<Range>();
                for (var sector = 0; sector < write.Bytes.Length; sector += 512)
                {
                    if (random.Next(2) == 0) kept.Add(sector..Math.Min(sector + 512, write.Bytes.Length));
                }

                return kept;
        }
    }
}

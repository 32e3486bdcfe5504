using NamenodeSample.Tree;

namespace NamenodeSample.Run;

/// <summary>Draws operations. Names are few, so that clients meet, and some operations are refused.</summary>
internal static class Operations
{
    private const int Directories = 4;
    private const int Files = 6;

    public static Operation Draw(Random random) => random.Next(100) switch
    {
        < 10 => new Operation(Verb.Mkdir, Directory(random)),
        < 36 => new Operation(Verb.Create, File(random)),
        < 66 => new Operation(Verb.AddBlock, File(random), Value: random.Next(1, 128 << 20)),
        < 70 => new Operation(Verb.Complete, File(random)),
        < 78 => new Operation(Verb.Rename, File(random), File(random)),
        < 80 => new Operation(Verb.Rename, Directory(random), Directory(random)),
        < 85 => new Operation(Verb.Delete, File(random)),
        < 86 => new Operation(Verb.Delete, Directory(random)),
        < 92 => new Operation(Verb.SetMode, random.Next(2) == 0 ? File(random) : Directory(random),
            Value: random.Next(0x200)),
        _ => new Operation(Verb.Status, random.Next(2) == 0 ? File(random) : Directory(random)),
    };

    private static string Directory(Random random) =>
        string.Concat(Enumerable.Range(0, random.Next(1, 3)).Select(_ => $"/d{random.Next(Directories)}"));

    private static string File(Random random) =>
        $"{(random.Next(8) == 0 ? "" : Directory(random))}/f{random.Next(Files)}";
}

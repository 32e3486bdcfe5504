using Corfu.Fuzz;

namespace Corfu.Fuzz.Tests;

/// <summary>Inputs that once did what none may do; their names say what they are. The first words are the decoder's
/// name.</summary>
public sealed class RegressionTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("corfu-fuzz-").FullName;

    public static TheoryData<string> Cases =>
        [.. Directory.EnumerateFiles(Path.Combine(AppContext.BaseDirectory, "Regressions"), "*.hex")
            .Select(f => Path.GetFileNameWithoutExtension(f)).Order(StringComparer.Ordinal)];

    [Theory]
    [MemberData(nameof(Cases))]
    public void Input_is_refused_as_documented(string name)
    {
        var bytes =
            Convert.FromHexString(File.ReadAllText(Path.Combine(AppContext.BaseDirectory, "Regressions", name + ".hex"))
                .Trim());
        var target = AllTargets.In(_folder)
            .Single(t => name.StartsWith(t.Name.Replace(' ', '-') + "-", StringComparison.Ordinal));
        var feeder = new Feeder(target, 1);
        feeder.Feed(0, bytes);
        Assert.Empty(feeder.Findings);
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);
}

using Corfu.Fuzz;

namespace Corfu.Fuzz.Tests;

/// <summary>Inputs that once did what none may do, by what they did.</summary>
public sealed class RegressionTests : IDisposable
{
    private readonly string _folder = Directory.CreateTempSubdirectory("corfu-fuzz-").FullName;

    /// <summary>Whole by its check, but the header length inside the entry was not believable: the scan of a unit's log fell over it.</summary>
    [Theory]
    [InlineData(1)]
    [InlineData(472)]
    [InlineData(542)]
    public void A_unit_record_with_an_entry_that_is_none(long input) => Feed("unit log", input);

    /// <summary>Whole by their checks, but of another version, or too short: not the exception that opening an acceptor promises.</summary>
    [Theory]
    [InlineData(10)]
    [InlineData(902)]
    [InlineData(2169)]
    [InlineData(3297)]
    public void An_acceptors_group_that_is_none(long input) => Feed("acceptor log", input);

    private void Feed(string name, long input)
    {
        var feeder = new Feeder(AllTargets.In(_folder).Single(t => t.Name == name), 1);
        feeder.Feed(input, feeder.InputAt(input));
        Assert.Empty(feeder.Findings);
    }

    public void Dispose() => Directory.Delete(_folder, recursive: true);
}

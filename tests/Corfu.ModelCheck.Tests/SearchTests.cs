using Corfu.ModelCheck.Chains;
using Corfu.ModelCheck.Decisions;
using Corfu.ModelCheck.Engine;
using Corfu.ModelCheck.Processes;

namespace Corfu.ModelCheck.Tests;

/// <summary>A small share of the search, in every build; the whole of it is a command
/// (docs/testing-simulator.md).</summary>
public sealed class SearchTests
{
    private const int SmallBound = 60_000;
    private const int SmallChainBound = 6_000;

    public static TheoryData<string> ScenarioNames => [.. Scenarios.All().Select(s => s.Name)];

    public static TheoryData<string> ChainScenarioNames => [.. ChainSearch.All.Select(scenario => scenario.Name)];

    public static TheoryData<string> DecisionScenarioNames => [.. DecisionSearch.All.Select(one => one.Name)];

    public static TheoryData<string, string> DecisionFlaws => [.. DecisionSearch.Flaws];

    /// <summary>Each with the states that suffice to meet it.</summary>
    public static TheoryData<Flaw, string, string> Flaws => new()
    {
        { Flaw.SealAnyReplica, "replace", "seal-complete" },
        { Flaw.CopyWithoutFilling, "rebuild", "rebuild-equal" },
        { Flaw.CopyPastFullReplicas, "rebuild", "chain-prefix" },
        { Flaw.AckAtHead, "replace", "nothing-lost" },
        { Flaw.FillFromTail, "rebuild", "chain-prefix" },
        { Flaw.ReadAtHead, "rebuild", "read-committed" },
        { Flaw.WriteAfterEpoch, "replace", "seal-complete" },
        { Flaw.ResolveAboveStart, "replace", "granted" },
        { Flaw.StartNotRaised, "replace", "seal-complete" },
        { Flaw.OwnValueFirst, "replace", "one-projection" },
        { Flaw.OneAcceptorIsEnough, "layout", "one-projection" },
        { Flaw.UnconfirmedCheck, "checks", "check" },
    };

    [Theory]
    [MemberData(nameof(ScenarioNames))]
    public void Invariants_hold_up_to_a_small_bound(string name)
    {
        var result = Search.Run(Scenarios.All().Single(s => s.Name == name), SmallBound);
        Assert.True(result.Violation is null, $"{result.Violation}\n{string.Join('\n', result.Trace)}");
        Assert.True(result.Exhausted || result.States >= SmallBound);
    }

    [Theory]
    [MemberData(nameof(ChainScenarioNames))]
    public void Invariants_of_a_chain_hold_up_to_a_small_bound(string name)
    {
        var result = ChainSearch.Run(name, SmallChainBound);
        Assert.True(result.Violation is null, $"{result.Violation}\n{string.Join('\n', result.Trace)}");
        Assert.True(result.Exhausted || result.States >= SmallChainBound);
    }

    [Theory]
    [MemberData(nameof(Flaws))]
    public void Planted_mistake_is_found_with_a_trace(Flaw flaw, string scenario, string invariant)
    {
        var result = Search.Run(Scenarios.All(flaw).Single(s => s.Name == scenario), SmallBound);
        Assert.StartsWith(invariant, result.Violation, StringComparison.Ordinal);
        Assert.True(result.Trace.Length > result.Depth);
    }

    [Theory]
    [MemberData(nameof(DecisionScenarioNames))]
    public void Decided_records_meet_no_write_up_to_a_small_bound(string name)
    {
        var result = DecisionSearch.Run(name, SmallChainBound);
        Assert.True(result.Violation is null, $"{result.Violation}\n{string.Join('\n', result.Trace)}");
        Assert.True(result.Exhausted || result.States >= SmallChainBound);
    }

    /// <summary>Appending processes break R24, R28, R31 or R32.</summary>
    [Theory]
    [MemberData(nameof(DecisionFlaws))]
    public void Planted_mistake_of_a_decision_is_found_with_a_trace(string flaw, string scenario)
    {
        var result = DecisionSearch.Run(scenario, SmallChainBound, flaw);
        Assert.StartsWith("decided", result.Violation, StringComparison.Ordinal);
        Assert.True(result.Trace.Length > result.Depth);
    }

    [Fact]
    public void A_search_is_the_same_every_time()
    {
        var first = Search.Run(Scenarios.All()[0], 20_000);
        var second = Search.Run(Scenarios.All()[0], 20_000);
        Assert.Equal((first.States, first.Moves, first.Depth), (second.States, second.Moves, second.Depth));
    }

    [Fact]
    public void A_scenario_that_ends_is_exhausted()
    {
        var result = Search.Run(Scenarios.All().Single(s => s.Name == "streams"), 1_000_000);
        Assert.True(result.Exhausted);
        Assert.Null(result.Violation);
    }
}

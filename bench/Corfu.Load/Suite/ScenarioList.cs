using Corfu.Load.Suite.Scenarios;

namespace Corfu.Load.Suite;

/// <summary>Every scenario of <c>all</c>, in the order of the report. A new one is a class and a line here.</summary>
internal static class ScenarioList
{
    public static IReadOnlyList<IScenario> All { get; } =
    [
        RisingLoad.Append(),
        RisingLoad.Read(),
        RisingLoad.Check(),
        RisingLoad.ObjectRead(),
        RisingLoad.ObjectUpdate(),
        RisingLoad.Transaction(),
        new MultiAppend(),
        new OpenFromCheckpoint(),
        new ReadWriteMix(),
        new Elasticity(),
        new Contention(),
        new Deciding(),
        new Partitions(),
        SharedTransactions.CrossPartition(),
        SharedTransactions.SharedObject(),
        new UnitScaling(),
        new Tokens(),
        new DecidedTokens(),
        new Reconfiguration(),
    ];
}

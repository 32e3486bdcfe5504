using System.Security.Cryptography;

namespace Corfu.ZooKeeper.Serving;

/// <summary>Clock, loops and random bytes of a front end, and its way to hear of the tree. A simulator has its
/// own.</summary>
internal sealed record FrontEndEnvironment(TimeProvider Time)
{
    public LoopContext Loops { get; init; } = LoopContext.Pool;

    /// <summary>Fills ids and passwords.</summary>
    public RandomFill Fill { get; init; } = RandomNumberGenerator.Fill;

    public FrontEndTimes Times { get; init; } = new();

    /// <summary>Stands between the partitions and the front end that hears of their effects.</summary>
    public Func<IPlayedPartitions, IPlayedPartitions> Observe { get; init; } = static played => played;
}

using Corfu;
using Words = Tango.Collections.TangoDictionary<string, (int, string)>;

namespace Tango.Collections.Tests;

/// <summary>Past states and changes of objects with generated code.</summary>
public sealed class FeedTests
{
    [Fact]
    public async Task Changes_have_keys_and_arguments_as_passed()
    {
        await using var cluster = new Cluster();
        TangoRuntime runtime = cluster.NewRuntime();
        Words map = await runtime.OpenAsync<Words>("map", OpenMode.Create);
        await map.SetAsync("one", (1, "eins"));
        await map.SetAsync("two", (2, "zwei"));
        await map.RemoveAsync("one");

        var changes = new List<TangoChange<Words>>();
        await foreach (var change in runtime.History.ChangesAsync<Words>(
            "map", LogPosition.Zero, cancellationToken: TestContext.Current.CancellationToken))
        {
            changes.Add(change);
            if (changes.Count == 3) break;
        }

        Assert.Equal(["Set one", "Set two", "Remove one"],
            changes.Select(change => $"{change.Mutator!.Name} {change.ReadKey<string>()}"));
        Assert.Equal((2, "zwei"), changes[1].ReadArgument<(int, string)>());
        Assert.Throws<TangoFormatException>(() => changes[1].ReadArgument<(int, string)>(1));
        Assert.Throws<TangoFormatException>(() => changes[1].ReadKey<int>());
        Assert.Throws<TangoFormatException>(() => changes[2].ReadArgument<int>());

        TangoHistory past = await runtime.History.OpenAsync(changes[2].Place.Position);
        Words before = await past.OpenAsync<Words>("map");
        Assert.Equal((2, 1), (await before.CountAsync(), await map.CountAsync()));
    }
}

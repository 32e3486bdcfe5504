using Tango;

namespace Corfu.FaultRuns.Transactions;

/// <summary>
/// The shared objects as one client has them: two by themselves and a group of two. What a client hosts depends on its
/// place, so that transactions read what hosts of the written objects do not have, and need decision records (R20).
/// </summary>
/// <param name="Hosted">By index: whether this client reads it.</param>
internal sealed record TxObjects(IReadOnlyList<AppendLists> Handles, IReadOnlyList<bool> Hosted)
{
    private const int GroupStart = 2;

    // The first place hosts everything; others lack one unit or two.
    private static readonly bool[][] s_units = [[true, true, true], [true, false, false], [false, true, true],
        [true, true, false]];

    /// <param name="prefix">Prefix of the objects' names: runs over other objects share the log, and nothing
    /// else.</param>
    public static async Task<TxObjects> OpenAsync(
        TangoRuntime runtime, string prefix, int place, CancellationToken stop)
    {
        var units = s_units[place % s_units.Length];
        var handles = new List<AppendLists>();
        for (var i = 0; i < GroupStart; i++)
        {
            handles.Add(units[i]
                ? await runtime.OpenAsync<AppendLists>(Name(prefix, i), OpenMode.Create, stop)
                : await runtime.OpenWriteOnlyAsync<AppendLists>(Name(prefix, i), OpenMode.Create, stop));
        }

        if (units[GroupStart])
        {
            await runtime.OpenGroupAsync(
                $"{prefix}-pair", group =>
                {
                    handles.Add(group.Add<AppendLists>(Name(prefix, GroupStart)));
                    handles.Add(group.Add<AppendLists>(Name(prefix, GroupStart + 1)));
                }, stop);
        }
        else
        {
            for (var i = GroupStart; i < GroupStart + 2; i++)
                handles.Add(await runtime.OpenWriteOnlyAsync<AppendLists>(Name(prefix, i), OpenMode.Create, stop));
        }

        return new TxObjects(handles, [units[0], units[1], units[GroupStart], units[GroupStart]]);
    }

    private static string Name(string prefix, int index) => $"{prefix}-{index}";
}

using System.Collections.Immutable;
using CsCheck;

namespace Tango.Collections.Tests;

/// <summary>Operations that sorted collections add: the same for maps, whose items are pairs, and sets.</summary>
internal sealed record OrderedSteps<TObject, TItem>(
    Func<TObject, ValueTask<Lookup<TItem>>> FirstAsync,
    Func<TObject, ValueTask<Lookup<TItem>>> LastAsync,
    Func<TObject, string, ValueTask<Lookup<TItem>>> NextAsync,
    Func<TObject, string, ValueTask<Lookup<TItem>>> PreviousAsync,
    Func<TObject, KeyRange<string>, ValueTask<ImmutableArray<TItem>>> ScanAsync,
    Func<TItem, string> Key)
{
    public Gen<Step<TObject, TModel>> Against<TModel>()
        where TModel : IEnumerable<TItem> => Gen.OneOf(
        Gen.Const(Step<TObject, TModel>.Read("first", FirstAsync, model => First(model))),
        Gen.Const(Step<TObject, TModel>.Read("last", LastAsync, model => First(model.Reverse()))),
        Keys.Any.Select(key => Step<TObject, TModel>.Read($"next {key}", actual => NextAsync(actual, key),
            model => First(model.Where(item => string.CompareOrdinal(Key(item), key) > 0)))),
        Keys.Any.Select(key => Step<TObject, TModel>.Read($"previous {key}", actual => PreviousAsync(actual, key),
            model => First(model.Reverse().Where(item => string.CompareOrdinal(Key(item), key) < 0)))),
        Keys.Scans.Select(scan => Step<TObject, TModel>.Read(
            scan.Text, async actual => (await ScanAsync(actual, scan.Range)).ToArray(), model => scan.Of(model, Key))));

    private static Lookup<TItem> First(IEnumerable<TItem> items) => items.Select(Lookup.Of).FirstOrDefault();
}

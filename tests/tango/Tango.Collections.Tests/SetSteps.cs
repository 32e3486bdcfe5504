using CsCheck;

namespace Tango.Collections.Tests;

/// <summary>Operations of every set on one item, and as a whole: the same for all sets.</summary>
internal sealed record SetSteps<TObject>(
    Func<TObject, string, ValueTask<bool>> AddAsync,
    Func<TObject, string, ValueTask> EnsureAsync,
    Func<TObject, string, ValueTask<bool>> RemoveAsync,
    Func<TObject, string, ValueTask> DropAsync,
    Func<TObject, ValueTask> ClearAsync,
    Func<TObject, string, ValueTask<bool>> ContainsAsync,
    Func<TObject, ValueTask<int>> CountAsync)
{
    public Gen<Step<TObject, TModel>> Against<TModel>()
        where TModel : ISet<string> => Gen.OneOf(
        Keys.Any.Select(item => Step<TObject, TModel>.Write(
            $"add {item}", set => AddAsync(set, item), model => model.Add(item))),
        Keys.Any.Select(item => Step<TObject, TModel>.Write(
            $"ensure {item}", set => EnsureAsync(set, item), model => { model.Add(item); })),
        Keys.Any.Select(item => Step<TObject, TModel>.Write(
            $"remove {item}", set => RemoveAsync(set, item), model => model.Remove(item))),
        Keys.Any.Select(item => Step<TObject, TModel>.Write(
            $"drop {item}", set => DropAsync(set, item), model => { model.Remove(item); })),
        Gen.Const(Step<TObject, TModel>.Write("clear", ClearAsync, model => model.Clear())),
        Keys.Any.Select(item => Step<TObject, TModel>.Read(
            $"contains {item}", set => ContainsAsync(set, item), model => model.Contains(item))),
        Gen.Const(Step<TObject, TModel>.Read("count", CountAsync, model => model.Count)));
}

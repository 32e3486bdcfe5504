using CsCheck;

namespace Tango.Collections.Tests;

/// <summary>Operations of every map on one key, and as a whole: the same for all maps.</summary>
internal sealed record MapSteps<TObject>(
    Func<TObject, string, int, ValueTask> SetAsync,
    Func<TObject, string, int, ValueTask<bool>> TryAddAsync,
    Func<TObject, string, int, ValueTask<int>> GetOrAddAsync,
    Func<TObject, string, int, int, ValueTask<bool>> TryUpdateAsync,
    Func<TObject, string, ValueTask<bool>> RemoveAsync,
    Func<TObject, string, ValueTask<Lookup<int>>> TakeAsync,
    Func<TObject, ValueTask> ClearAsync,
    Func<TObject, string, ValueTask<Lookup<int>>> TryGetAsync,
    Func<TObject, string, ValueTask<bool>> ContainsKeyAsync,
    Func<TObject, ValueTask<int>> CountAsync)
{
    private static readonly Gen<int> s_values = Gen.Int[0, 2];

    public Gen<Step<TObject, TModel>> Against<TModel>()
        where TModel : IDictionary<string, int> => Gen.OneOf(
        Gen.Select(Keys.Any, s_values, (key, value) => Step<TObject, TModel>.Write(
            $"set {key} {value}", map => SetAsync(map, key, value), model => model[key] = value)),
        Gen.Select(Keys.Any, s_values, (key, value) => Step<TObject, TModel>.Write(
            $"try add {key} {value}", map => TryAddAsync(map, key, value), model => model.TryAdd(key, value))),
        Gen.Select(Keys.Any, s_values, (key, value) => Step<TObject, TModel>.Write(
            $"get or add {key} {value}", map => GetOrAddAsync(map, key, value),
            model => model.TryAdd(key, value) ? value : model[key])),
        Gen.Select(Keys.Any, s_values, s_values, (key, value, expected) => Step<TObject, TModel>.Write(
            $"try update {key} {value} {expected}", map => TryUpdateAsync(map, key, value, expected), model =>
            {
                if (!model.TryGetValue(key, out int current) || current != expected) return false;
                model[key] = value;
                return true;
            })),
        Keys.Any.Select(key => Step<TObject, TModel>.Write(
            $"remove {key}", map => RemoveAsync(map, key), model => model.Remove(key))),
        Keys.Any.Select(key => Step<TObject, TModel>.Write($"take {key}", map => TakeAsync(map, key),
            model => model.Remove(key, out int value) ? Lookup.Of(value) : Lookup<int>.None)),
        Gen.Const(Step<TObject, TModel>.Write("clear", ClearAsync, model => model.Clear())),
        Keys.Any.Select(key => Step<TObject, TModel>.Read($"get {key}", map => TryGetAsync(map, key),
            model => model.TryGetValue(key, out int value) ? Lookup.Of(value) : Lookup<int>.None)),
        Keys.Any.Select(key => Step<TObject, TModel>.Read(
            $"contains {key}", map => ContainsKeyAsync(map, key), model => model.ContainsKey(key))),
        Gen.Const(Step<TObject, TModel>.Read("count", CountAsync, model => model.Count)));
}

namespace Tango.Collections.Tests;

/// <summary>An operation on an object, and on the .NET type that says what it must answer.</summary>
internal sealed record Step<TObject, TModel>(
    string Text, bool Writes, Func<TObject, Task<object?>> RunAsync, Func<TModel, object?> Expect)
{
    public static Step<TObject, TModel> Read<T>(
        string text, Func<TObject, ValueTask<T>> run, Func<TModel, T> expect) =>
        new(text, false, async actual => await run(actual), model => expect(model));

    public static Step<TObject, TModel> Write<T>(
        string text, Func<TObject, ValueTask<T>> run, Func<TModel, T> expect) =>
        Read(text, run, expect) with { Writes = true };

    /// <summary>A write that answers nothing.</summary>
    public static Step<TObject, TModel> Write(string text, Func<TObject, ValueTask> run, Action<TModel> expect) =>
        new(text, true,
            async actual =>
            {
                await run(actual);
                return null;
            },
            model =>
            {
                expect(model);
                return null;
            });

    /// <summary>A write that the object may reject: when the model answers none.</summary>
    public static Step<TObject, TModel> WriteOrReject<T>(
        string text, Func<TObject, ValueTask<T>> run, Func<TModel, Lookup<T>> expect) =>
        new(text, true,
            async actual =>
            {
                try
                {
                    return await run(actual);
                }
                catch (TangoRejectedException)
                {
                    return Rejection.Instance;
                }
            },
            model => expect(model).TryGet(out T? value) ? value : Rejection.Instance);

    public override string ToString() => Text;
}

/// <summary>The answer of an operation that did nothing.</summary>
internal sealed class Rejection
{
    public static Rejection Instance { get; } = new();
}

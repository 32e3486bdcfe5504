using System.ComponentModel;

namespace Tango;

/// <summary>Opens the objects of a <see cref="TangoContext"/>. For generated code.</summary>
[EditorBrowsable(EditorBrowsableState.Never)]
public sealed class TangoContextBuilder
{
    // Null: each object is opened alone.
    private readonly TangoGroupBuilder? _group;
    private readonly List<Func<CancellationToken, ValueTask>> _opens = [];

    private TangoContextBuilder(TangoRuntime runtime, string name, TangoGroupBuilder? group) =>
        (Runtime, Name, _group) = (runtime, name, group);

    internal TangoRuntime Runtime { get; }

    internal string Name { get; }

    /// <summary>Adds the object. The handle can be used once <see cref="OpenAsync{T}"/> has completed.</summary>
    public T Add<T>(string member)
        where T : TangoObject, ITangoObject<T>
    {
        var name = $"{Name}/{member}";
        if (_group is not null) return _group.Add<T>(name);
        var handle = (T)T.ObjectType.Create();
        var opener = Runtime.Services.Opener;
        _opens.Add(cancellationToken => opener.OpenAsync(handle, name, OpenMode.Create, cancellationToken));
        return handle;
    }

    /// <summary>Makes the context and opens what it has added.</summary>
    /// <param name="isGroup"><see cref="TangoContextAttribute.Group"/>.</param>
    public static async ValueTask<T> OpenAsync<T>(TangoRuntime runtime, string name, bool isGroup,
        Func<TangoContextBuilder, T> create, CancellationToken cancellationToken)
        where T : TangoContext
    {
        ArgumentNullException.ThrowIfNull(runtime);
        ArgumentException.ThrowIfNullOrEmpty(name);
        ArgumentNullException.ThrowIfNull(create);
        T? context = null;
        if (isGroup)
        {
            await runtime.OpenGroupAsync(
                name, group => context = create(new TangoContextBuilder(runtime, name, group)), cancellationToken);
            return context!;
        }

        var builder = new TangoContextBuilder(runtime, name, null);
        context = create(builder);
        await Task.WhenAll(builder._opens.Select(open => open(cancellationToken).AsTask()));
        return context;
    }
}

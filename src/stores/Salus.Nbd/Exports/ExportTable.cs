using System.Collections.Immutable;
using System.Numerics;
using System.Text;

namespace Salus.Nbd.Exports;

/// <summary>The exports of a server, by name. Any thread.</summary>
internal sealed class ExportTable(NbdServerOptions options, ILogger logger, TimeProvider time)
{
    /// <summary>The protocol's limit, in bytes.</summary>
    public const int MaxName = 4096;

    private const int MinBlock = 512;
    private const int MaxBlock = 1 << 20;

    private ImmutableDictionary<string, ExportMount> _byName =
        ImmutableDictionary.Create<string, ExportMount>(StringComparer.Ordinal);

    /// <summary>By name.</summary>
    public IEnumerable<NbdExport> Exports => _byName.Values.Select(mount => mount.Export)
        .OrderBy(export => export.Name, StringComparer.Ordinal);

    /// <param name="name">Empty: the only export, if there is one alone that can be written.</param>
    public ExportMount? Find(string name)
    {
        if (_byName.TryGetValue(name, out var found) || name.Length > 0) return found;
        ExportMount[] writable = [.. _byName.Values.Where(mount => !mount.Export.Source.IsReadOnly).Take(2)];
        if (writable is [var only]) return only;
        return _byName.Count == 1 ? _byName.Values.First() : null;
    }

    /// <exception cref="ArgumentException">The name is taken, or no name, or the blocks are not served.</exception>
    public void Add(NbdExport export)
    {
        ArgumentException.ThrowIfNullOrEmpty(export.Name);
        if (Encoding.UTF8.GetByteCount(export.Name) > MaxName
            || Encoding.UTF8.GetByteCount(export.Description) > MaxName)
            throw new ArgumentException($"An export's name or description is longer than {MaxName} bytes.");
        var (size, block) = (export.Source.Size, export.Source.BlockSize);
        if (block is < MinBlock or > MaxBlock || !BitOperations.IsPow2(block) || size < 0 || size % block != 0)
        {
            throw new ArgumentException($"'{export.Name}' has {size} bytes in blocks of {block}; whole blocks of "
                + $"{MinBlock} to {MaxBlock} bytes, a power of two, are served.");
        }

        var mount = new ExportMount(export, options, logger, time);
        if (!ImmutableInterlocked.TryAdd(ref _byName, export.Name, mount))
            throw new ArgumentException($"An export is called '{export.Name}' already; use another name.");
    }

    /// <summary>Closes the export.</summary>
    /// <returns>False: there is none.</returns>
    public async Task<bool> RemoveAsync(string name)
    {
        if (!ImmutableInterlocked.TryRemove(ref _byName, name, out var mount)) return false;
        await mount.CloseAsync().ConfigureAwait(false);
        return true;
    }

    public Task CloseAsync() => Task.WhenAll(_byName.Values.Select(mount => mount.CloseAsync()));
}

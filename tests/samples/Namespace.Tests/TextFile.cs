using System.IO.Compression;
using System.Text;

namespace NamespaceSample.Tests;

/// <summary>A file for the time of a test.</summary>
internal sealed class TextFile : IDisposable
{
    public TextFile(string text, bool isGzip = false)
    {
        Path = System.IO.Path.Combine(System.IO.Path.GetTempPath(), $"namespace-{Guid.NewGuid():N}");
        byte[] bytes = Encoding.UTF8.GetBytes(text);
        using FileStream stream = File.Create(Path);
        if (!isGzip)
        {
            stream.Write(bytes);
            return;
        }

        using var gzip = new GZipStream(stream, CompressionMode.Compress);
        gzip.Write(bytes);
    }

    public string Path { get; }

    public void Dispose() => File.Delete(Path);
}
